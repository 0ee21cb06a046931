"""Which files a command's own processes change, as the kernel reports it."""
