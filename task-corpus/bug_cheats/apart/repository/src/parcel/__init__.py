"""Parcels, their weights, and shelves of them."""
