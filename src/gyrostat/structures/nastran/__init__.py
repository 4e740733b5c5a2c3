"""Flexible bodies from normal modes of MSC or NX Nastran, read by pyNastran (`pip install 'gyrostat[fem]'`)."""

from .body import nastran_body as nastran_body
