"""Tests of the K-properties, and the bias of the estimate if they are violated."""
