"""What is set up, what is missing, and how to fix it."""
