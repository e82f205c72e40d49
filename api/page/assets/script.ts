/**
 * The only script of the hosted page, which works without it. Old syntax, as nothing transpiles it for the customer's
 * browser.
 */
export const SCRIPT = `'use strict';
(function () {
  // A page that answered a form: a reload shall ask for the page, not send the form again.
  var reload_url = document.documentElement.getAttribute('data-reload-url');
  if (reload_url && history.replaceState) history.replaceState(null, '', reload_url);

  // A waiting page loads itself again; while a link or button has the focus, a minute later, as it may be pressed.
  var root = document.documentElement, waiting_url = root.getAttribute('data-refresh-url'), waited = 0;
  if (waiting_url) {
    var reload = function () {
      var focused = document.activeElement, isControl = focused && /^(A|BUTTON)$/.test(focused.tagName);
      if (!isControl || (waited += 1) > 60) location.replace(waiting_url);
      else setTimeout(reload, 1000);
    };
    setTimeout(reload, Number(root.getAttribute('data-refresh-seconds')) * 1000);
  }

  var sent = false;
  var timer = document.querySelector('[data-milliseconds-left]');
  if (timer) {
    var left = Number(timer.getAttribute('data-milliseconds-left'));
    // The first clock cannot be set, but stands still while some devices sleep; the second goes on.
    var began = performance.now(), began_at = Date.now();
    var words = document.querySelector('[data-left-label]');
    var two = function (n) { return (n < 10 ? '0' : '') + n; };
    var show = function () {
      var passed = Math.max(performance.now() - began, Date.now() - began_at);
      var seconds = Math.max(0, Math.ceil((left - passed) / 1000));
      // As after a wait: whoever has an address to return to is redirected. The answer to a form that was sent is awaited.
      if (seconds === 0 && !sent) { clearInterval(ticking); location.replace(timer.getAttribute('data-page')); return; }
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
  document.querySelectorAll('form[data-pay]').forEach(function (form) {
    var button = form.querySelector('button');
    var words = form.querySelector('[data-busy]');
    var label = words.textContent;
    var ready = function () {
      sent = false;
      button.removeAttribute('aria-disabled');
      words.textContent = label;
    };
    form.addEventListener('submit', function (event) {
      if (sent) { event.preventDefault(); return; }
      sent = true;
      button.setAttribute('aria-disabled', 'true');
      words.textContent = words.getAttribute('data-busy');
      // Every form is answered by then: the customer has stopped loading. A second one charges nothing twice.
      setTimeout(ready, 20000);
    });
    // Back to this page: the button works again.
    window.addEventListener('pageshow', ready);
    // Only while typing at the end: a caret in the middle must not jump.
    var rewrite = function (name, how) {
      var input = form.elements.namedItem(name);
      if (!input) return;
      input.addEventListener('input', function (event) {
        if (event.inputType && event.inputType.indexOf('insert') === 0 && input.selectionStart === input.value.length) input.value = how(input.value);
      });
    };
    rewrite('number', function (text) { return text.replace(/\\D/g, '').replace(/(\\d{4})(?=\\d)/g, '$1 '); });
    // The slash may be typed as well.
    rewrite('card_expiry', function (text) { return text.replace(/^(0[1-9]|1[0-2])[\\s\\/.-]*(\\d{0,4}).*$/, '$1 / $2'); });
  });
})();
`;
