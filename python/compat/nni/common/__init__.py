"""What NNI's classes import from here."""
