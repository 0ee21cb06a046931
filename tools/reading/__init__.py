"""What code says about itself: where a name is defined, who uses it, what it imports. It only reads."""
