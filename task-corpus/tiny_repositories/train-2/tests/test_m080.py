from tiny.m080 import f


def test_0():
    assert f('adeb') == 'beda'


def test_1():
    assert f('bdc') == 'cdb'


def test_2():
    assert f('beee') == 'eeeb'


def test_3():
    assert f('ddc') == 'cdd'


def test_4():
    assert f('ede') == 'ede'


def test_5():
    assert f('daa') == 'aad'


def test_6():
    assert f('da') == 'ad'


def test_7():
    assert f('bda') == 'adb'
