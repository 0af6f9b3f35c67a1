from tiny.m239 import f


def test_0():
    assert f('aa') == 'AA'


def test_1():
    assert f('dc') == 'DC'


def test_2():
    assert f('eee') == 'EE'


def test_3():
    assert f('eec') == 'EE'


def test_4():
    assert f('cdca') == 'CD'


def test_5():
    assert f('cebd') == 'CE'


def test_6():
    assert f('acae') == 'AC'


def test_7():
    assert f('daa') == 'DA'
