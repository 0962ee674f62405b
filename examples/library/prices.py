PRICES = {"tea": 13, "coffee": 13}
