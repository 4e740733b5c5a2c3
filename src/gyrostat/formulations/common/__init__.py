"""What several formulations need: carriers of wheels, mapping matrices of joints, joints as constraints, their
loads.
"""
