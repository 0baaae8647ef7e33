"""The book on paper: the built pages as one document, printed by Chromium.

* ``document`` takes the pages apart and puts them together: solutions at a chapter's end, an Explorer as a picture;
* ``press`` prints it twice, the second time with the numbers of its pages, and finishes the file;
* ``paper.css`` is how it looks.
"""

from printing.document import Document, NotBuilt, groups_of
from printing.press import NoBrowser, NoFace, Press, Spoilt, chromium

__all__ = ["Document", "NoBrowser", "NoFace", "NotBuilt", "Press", "Spoilt", "chromium", "groups_of"]
