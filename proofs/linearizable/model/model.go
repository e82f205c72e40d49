package main

import "strings"

// One order and its money, one request after the other, as docs/rules.md describes it (the numbers are its rules).

const (
	attemptsMax = 5  // 6.3
	requestsMax = 40 // of one order's history
)

// What a client asked: one line of a history.
type request struct {
	Kind    string `json:"kind"` // pay, capture, void, refund, cancel, read
	Attempt int    `json:"attempt"`
	Card    string `json:"card"`   // of pay: approved, declined, capture_refused, refund_refused
	Amount  int    `json:"amount"` // 0: all that is left
}

// What it was answered.
type answer struct {
	Result     string `json:"result"` // done, processing, refused by the processor, unanswered, or the type of the error
	Amount     int    `json:"amount"` // of the order that followed
	Status     string `json:"status"`
	Captured   int    `json:"captured"`
	Voided     int    `json:"voided"`
	Refunded   int    `json:"refunded"`
	Capturable int    `json:"capturable"`
	Voidable   int    `json:"voidable"`
	Refundable int    `json:"refundable"`
}

// Requests of money take effect twice: when the amount is set aside or the charge begins, and when the processor's
// outcome is recorded. Each is a step of the model.
type step struct {
	request
	id      int
	settles bool
	final   bool // the read after which nothing was under way
}

// An amount that is set aside.
type part struct {
	kind   string
	amount int
}

type state struct {
	manual, cancelled                  bool
	amount, captured, voided, refunded int
	attempts                           string            // a letter of each attempt: o open, d declined, a accepted
	card                               string            // of the last attempt
	aside                              [requestsMax]part // by the request's id
	quiet                              bool              // the final read was made
}

func (s state) last() byte {
	if s.attempts == "" {
		return '-'
	}
	return s.attempts[len(s.attempts)-1]
}

func (s state) accepted() bool { return s.last() == 'a' }
func (s state) failed() bool   { return s.last() == 'd' && len(s.attempts) == attemptsMax } // 4.4, line 3
func (s state) closed() bool   { return s.accepted() || s.cancelled || s.failed() }

// The sum that is set aside for these kinds.
func (s state) pending(kinds string) int {
	sum := 0
	for _, part := range s.aside {
		if part.kind != "" && strings.Contains(kinds, part.kind) {
			sum += part.amount
		}
	}
	return sum
}

// What a capture or void may take (8.2, 8.4, 9.6): nothing of a sale.
func (s state) reserved() int {
	if !s.manual || !s.accepted() {
		return 0
	}
	return s.amount - s.captured - s.voided - s.pending("capture void")
}

func (s state) refundable() int { return s.captured - s.refunded - s.pending("refund") } // 9.7

func (s state) apply(in step, out answer) (bool, state) {
	switch {
	case in.settles && in.Kind == "pay":
		return s.settlePayment(in, out)
	case in.settles:
		return s.settleMove(in, out)
	case in.Kind == "pay":
		return s.pay(in, out)
	case in.Kind == "cancel":
		return s.cancel(out)
	case in.Kind == "read":
		shown := s.shows(out)
		s.quiet = s.quiet || in.final
		return shown, s
	}
	return s.move(in, out)
}

// An unanswered request without an effect. Only after the final read: no read tells when it was made, and the histories
// that differ only in that would be searched one by one.
func (s state) unchanged() (bool, state) { return s.quiet, s }

// A form of the page pays its attempt, joins it, or is refused (6.3, 12.5, 12.9).
func (s state) pay(in step, out answer) (bool, state) {
	begun := len(s.attempts)
	mayBegin := !s.closed() && s.last() != 'o' && in.Attempt == begun+1
	switch out.Result {
	case "TransactionAlreadyStarted":
		return in.Attempt <= begun || s.closed(), s
	case "unanswered":
		if !mayBegin {
			return s.unchanged()
		}
	default:
		if !mayBegin {
			return in.Attempt == begun, s
		}
	}
	s.attempts += "o"
	s.card = in.Card
	return true, s
}

// The outcome of a charge. Whoever asked for it, it comes once (4.3, 10.1).
func (s state) settlePayment(in step, out answer) (bool, state) {
	isUnanswered := out.Result == "unanswered"
	if in.Attempt > len(s.attempts) {
		return isUnanswered && s.quiet, s
	}
	if s.cancelled || in.Attempt < len(s.attempts) || s.last() != 'o' {
		return !isUnanswered || s.quiet, s
	}
	outcome := "a"
	if s.card == "declined" {
		outcome = "d"
	} else if !s.manual {
		s.captured = s.amount // 8.1
	}
	s.attempts = s.attempts[:len(s.attempts)-1] + outcome
	return true, s
}

// 5.7, 10.10: a charge under way is asked about first, and may turn out never to have reached the processor.
func (s state) cancel(out answer) (bool, state) {
	switch out.Result {
	case "done":
		if s.accepted() || s.failed() {
			return false, s
		}
	case "CanNotCancelTransaction":
		return s.last() == 'o' || s.accepted() || s.failed(), s
	default:
		if s.closed() {
			return s.unchanged()
		}
	}
	s.cancelled = true
	return true, s
}

// A capture, void or refund sets its amount aside, or is refused (8.5, 8.6, 8.7, 9.8, 9.9).
func (s state) move(in step, out answer) (bool, state) {
	left, none, more := s.reserved(), "Conflict", "ValidationError"
	switch in.Kind {
	case "void":
		none = "CanNotCancelTransaction"
	case "refund":
		left, none, more = s.refundable(), "RefundError", "RefundError"
	}
	amount := in.Amount
	if amount == 0 {
		amount = left
	}
	refusal := map[bool]string{true: more}[amount > left]
	if left == 0 {
		refusal = none
	}
	switch out.Result {
	case "done", "processing", "refused by the processor":
		if refusal != "" || amount != out.Amount {
			return false, s
		}
	case "unanswered":
		if refusal != "" {
			return s.unchanged()
		}
	default:
		return out.Result == refusal, s
	}
	s.aside[in.id] = part{in.Kind, amount}
	return true, s
}

// The outcome of a capture, void or refund: its amount is confirmed, or free again (9.2, 9.6).
func (s state) settleMove(in step, out answer) (bool, state) {
	kind, amount := s.aside[in.id].kind, s.aside[in.id].amount
	if kind == "" {
		return out.Result == "unanswered" && s.quiet, s
	}
	s.aside[in.id] = part{}
	refused := s.card == kind+"_refused"
	if (out.Result == "done" && refused) || (out.Result == "refused by the processor" && !refused) {
		return false, s
	}
	if !refused {
		switch kind {
		case "capture":
			s.captured += amount
		case "void":
			s.voided += amount
		case "refund":
			s.refunded += amount
		}
	}
	return true, s
}

// What a client reads (4.4, 5.4).
func (s state) shows(out answer) bool {
	return strings.Contains(s.statuses(), " "+out.Status+" ") &&
		out.Captured == s.captured && out.Voided == s.voided && out.Refunded == s.refunded &&
		out.Capturable == s.reserved() && out.Voidable == s.reserved() && out.Refundable == s.refundable()
}

// While a charge is under way it is not written yet, or its outcome is unknown.
func (s state) statuses() string {
	switch {
	case s.accepted():
		return " completed "
	case s.cancelled:
		return " cancelled "
	case s.failed():
		return " error "
	case s.last() == 'o' && len(s.attempts) > 1:
		return " processing see-transactions "
	case s.last() == 'o':
		return " new processing "
	case s.last() == 'd':
		return " processing "
	}
	return " new "
}
