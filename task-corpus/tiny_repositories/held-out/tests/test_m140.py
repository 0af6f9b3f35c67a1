from tiny.m140 import f


def test_0():
    assert f('dcd') == 'zDCDx'


def test_1():
    assert f('dcba') == 'zDCBAx'


def test_2():
    assert f('dba') == 'zDBAx'


def test_3():
    assert f('acc') == 'zACCx'


def test_4():
    assert f('eaa') == 'zEAAx'


def test_5():
    assert f('edac') == 'zEDACx'


def test_6():
    assert f('ea') == 'zEAx'


def test_7():
    assert f('aece') == 'zAECEx'
