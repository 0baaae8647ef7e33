"""Programs that sections hand to learners, to be examined."""
