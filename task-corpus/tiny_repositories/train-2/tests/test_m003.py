from tiny.m003 import f


def test_0():
    assert f('dbe') == 'cdbez'


def test_1():
    assert f('acba') == 'cacbaz'


def test_2():
    assert f('cca') == 'cccaz'


def test_3():
    assert f('be') == 'cbez'


def test_4():
    assert f('dac') == 'cdacz'


def test_5():
    assert f('bcad') == 'cbcadz'


def test_6():
    assert f('ba') == 'cbaz'


def test_7():
    assert f('addb') == 'caddbz'
