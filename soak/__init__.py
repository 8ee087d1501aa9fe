"""The service under load and faults for long: does it stay as small, as quick and as right as it began?"""
