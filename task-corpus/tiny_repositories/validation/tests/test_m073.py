from tiny.m073 import f


def test_0():
    assert f('ac') == 'zaca'


def test_1():
    assert f('be') == 'zbea'


def test_2():
    assert f('bccd') == 'zbccda'


def test_3():
    assert f('bcae') == 'zbcaea'


def test_4():
    assert f('bacd') == 'zbacda'


def test_5():
    assert f('ba') == 'zbaa'


def test_6():
    assert f('abdc') == 'zabdca'


def test_7():
    assert f('ce') == 'zcea'
