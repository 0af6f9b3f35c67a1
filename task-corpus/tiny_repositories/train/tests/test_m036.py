from tiny.m036 import f


def test_0():
    assert f('abbe') == 'abbea'


def test_1():
    assert f('ea') == 'eaa'


def test_2():
    assert f('ae') == 'aea'


def test_3():
    assert f('becb') == 'becba'


def test_4():
    assert f('cdee') == 'cdeea'


def test_5():
    assert f('bbb') == 'bbba'


def test_6():
    assert f('edc') == 'edca'


def test_7():
    assert f('cbcc') == 'cbcca'
