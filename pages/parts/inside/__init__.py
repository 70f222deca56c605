"""What the page Inside a head is built from: the weight it is about, and the way through its steps.

The steps themselves are computed in model/measures and worded in viz/walkthrough.
"""
