from tiny.m031 import f


def test_0():
    assert f('eeae') == 'baeeb'


def test_1():
    assert f('edd') == 'badxb'


def test_2():
    assert f('cb') == 'babb'


def test_3():
    assert f('aec') == 'baexb'


def test_4():
    assert f('ebaa') == 'babab'


def test_5():
    assert f('bebd') == 'baedb'


def test_6():
    assert f('dcea') == 'bacab'


def test_7():
    assert f('aca') == 'bacxb'
