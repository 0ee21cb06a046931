"""Which files a command's own processes change, told by the kernel."""
