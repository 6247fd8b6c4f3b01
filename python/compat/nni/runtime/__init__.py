"""What advisors import from here."""
