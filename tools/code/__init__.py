"""What source files mean, as plain functions over bytes: scopes, names, imports, members. Nothing here reads a file."""
