from tiny.m066 import f


def test_0():
    assert f('acdb') == 'azacdbyx'


def test_1():
    assert f('eba') == 'azebayx'


def test_2():
    assert f('aacd') == 'azaacdyx'


def test_3():
    assert f('dd') == 'azddyx'


def test_4():
    assert f('ebba') == 'azebbayx'


def test_5():
    assert f('eab') == 'azeabyx'


def test_6():
    assert f('eada') == 'azeadayx'


def test_7():
    assert f('dea') == 'azdeayx'
