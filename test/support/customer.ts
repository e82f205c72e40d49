/** All that account funding asks of a customer. */
export const CUSTOMER = {
  first_name: 'Ada',
  last_name: 'Lovelace',
  address_type: 'billing',
  address: 'Keizersgracht 1',
  postal_code: '1015 CJ',
  city: 'Amsterdam',
  country: 'NL',
};
