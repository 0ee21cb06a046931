"""The HTTP door: routes, event streams, who may call, and how a refusal is said."""
