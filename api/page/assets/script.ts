/**
 * The only script of the hosted page, which works without it. Old syntax, as nothing transpiles it for the customer's
 * browser.
 */
export const SCRIPT = `'use strict';
(function () {
  // A page that answered a form: a reload shall ask for the page, not send the form again.
  var reload_url = document.documentElement.getAttribute('data-reload-url');
  if (reload_url && history.replaceState) history.replaceState(null, '', reload_url);

  var timer = document.querySelector('[data-milliseconds-left]');
  if (timer) {
    var end = performance.now() + Number(timer.getAttribute('data-milliseconds-left'));
    var words = document.querySelector('[data-left-label]');
    var two = function (n) { return (n < 10 ? '0' : '') + n; };
    var show = function () {
      var seconds = Math.ceil((end - performance.now()) / 1000);
      if (seconds <= 0) { clearInterval(ticking); location.replace(timer.getAttribute('data-page')); return; }
      // Longer than a day: keep the date of the page instead of a countdown.
      if (seconds > 86400) return;
      if (words) words.textContent = words.getAttribute('data-left-label');
      var hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
      timer.textContent = (hours ? hours + ':' + two(minutes) : minutes) + ':' + two(seconds % 60);
    };
    var ticking = setInterval(show, 1000);
    show();
  }

  // Only the first form is sent: afterwards the other forms that pay do nothing.
  var sent = false;
  document.querySelectorAll('form[data-pay]').forEach(function (form) {
    var button = form.querySelector('button');
    var words = form.querySelector('[data-busy]');
    var label = words.textContent;
    form.addEventListener('submit', function (event) {
      if (sent) { event.preventDefault(); return; }
      sent = true;
      button.setAttribute('aria-disabled', 'true');
      words.textContent = words.getAttribute('data-busy');
    });
    // Back to this page: the button works again.
    window.addEventListener('pageshow', function () {
      sent = false;
      button.removeAttribute('aria-disabled');
      words.textContent = label;
    });
    // Only while typing at the end: a caret in the middle must not jump.
    var rewrite = function (name, how) {
      var input = form.elements.namedItem(name);
      if (!input) return;
      input.addEventListener('input', function (event) {
        if (event.inputType && event.inputType.indexOf('insert') === 0 && input.selectionStart === input.value.length) input.value = how(input.value);
      });
    };
    rewrite('number', function (text) { return text.replace(/\\D/g, '').replace(/(\\d{4})(?=\\d)/g, '$1 '); });
    rewrite('card_expiry', function (text) { return /^\\d{2}$/.test(text) ? text + ' / ' : text; });
  });
})();
`;
