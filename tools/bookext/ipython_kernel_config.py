"""The kernels of the build: figures as transparent SVG for pages, as PNG for notebooks, the same bytes each time."""
c = get_config()  # noqa: F821
c.InlineBackend.figure_formats = {"svg", "png"}
c.InlineBackend.print_figure_kwargs = {"bbox_inches": "tight", "metadata": {"Date": None}}
c.InlineBackend.rc = {
    "svg.hashsalt": "book",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}
c.HistoryManager.enabled = False
c.IPKernelApp.log_level = 40        # ipykernel otherwise announces its transport in every build
