"""The screens. Each is imported only when it is opened."""
