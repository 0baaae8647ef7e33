"""Has moved: what sections use to show and to check is the package `provable_privacy`."""
raise ImportError("dplib.teaching is now provable_privacy: from provable_privacy import Explorer, check, source, style")
