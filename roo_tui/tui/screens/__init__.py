"""Screens; each is imported where it is opened."""
