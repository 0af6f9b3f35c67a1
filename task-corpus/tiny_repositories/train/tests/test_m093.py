from tiny.m093 import f


def test_0():
    assert f('ae') == 'zae'


def test_1():
    assert f('cb') == 'zcb'


def test_2():
    assert f('ede') == 'zEDE'


def test_3():
    assert f('eee') == 'zeee'


def test_4():
    assert f('ebc') == 'zebc'


def test_5():
    assert f('cbee') == 'zcbee'


def test_6():
    assert f('ddba') == 'zDDBA'


def test_7():
    assert f('bd') == 'zBD'
