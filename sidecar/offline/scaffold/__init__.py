"""Projects from templates: what kinds there are, what a sentence asks for, and the files that it comes to."""
