"""The parts of the page Is attention the explanation?"""
