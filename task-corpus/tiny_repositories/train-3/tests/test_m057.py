from tiny.m057 import f


def test_0():
    assert f('dabd') == 'ddabddab'


def test_1():
    assert f('aaea') == 'aaaeaaae'


def test_2():
    assert f('aea') == 'aaeaae'


def test_3():
    assert f('ede') == 'eedeed'


def test_4():
    assert f('cb') == 'bcbc'


def test_5():
    assert f('cd') == 'dcdc'


def test_6():
    assert f('baaa') == 'abaaabaa'


def test_7():
    assert f('bec') == 'cbecbe'
