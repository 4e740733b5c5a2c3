"""Ploen, Hadaegh & Scharf, Spacecraft formations, part 1: absolute equations of motion (2004): checked, and flown."""

from .reproduction import reproduce as reproduce
