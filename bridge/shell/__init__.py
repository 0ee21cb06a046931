"""The reference desktop shell, without a window: the model for other shells, and a library for those in Python."""
