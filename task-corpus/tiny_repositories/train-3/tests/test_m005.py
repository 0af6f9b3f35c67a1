from tiny.m005 import f


def test_0():
    assert f('ae') == 'ccea'


def test_1():
    assert f('cbbb') == 'ccbbbc'


def test_2():
    assert f('cbeb') == 'ccbebc'


def test_3():
    assert f('cd') == 'ccdc'


def test_4():
    assert f('bcb') == 'ccbcb'


def test_5():
    assert f('eea') == 'ccaee'


def test_6():
    assert f('aca') == 'ccaca'


def test_7():
    assert f('ac') == 'ccca'
