from tiny.m223 import f


def test_0():
    assert f('cddc') == ['da']


def test_1():
    assert f('baa') == ['ba']


def test_2():
    assert f('ce') == ['ea']


def test_3():
    assert f('bcd') == ['da']


def test_4():
    assert f('ebd') == ['ea']


def test_5():
    assert f('aab') == ['ba']


def test_6():
    assert f('dcb') == ['da']


def test_7():
    assert f('ca') == ['ca']
