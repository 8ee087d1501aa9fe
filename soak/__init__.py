"""The service under load and faults for long: whether it stays as small and as right as it began."""
