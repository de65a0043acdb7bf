"""The claims of the CGL paper, each a function named after what it claims that returns a verdict.

Criteria are those of the specification of the paper's claims; the test of each verdict says its criterion in
words. Statistics are compared with their noise (`noise.py`).
"""
