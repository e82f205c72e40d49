package main

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

// A request of an order of 100 with its answer, from its call to its return.
func at(call, end int64, in request, out answer) line {
	return line{Order: "1", Manual: false, Of: 100, In: in, Out: out, Call: call, Return: &end}
}

func manual(lines ...line) []line {
	for n := range lines {
		lines[n].Manual = true
	}
	return lines
}

func unanswered(call int64, in request) line {
	return line{Order: "1", Of: 100, In: in, Out: answer{Result: "unanswered"}, Call: call}
}

func final(one line) line {
	one.Final = true
	return one
}

var (
	pay     = request{Kind: "pay", Attempt: 1, Card: "approved"}
	read    = request{Kind: "read"}
	done    = answer{Result: "done"}
	paid    = at(1, 2, pay, done)
	settled = answer{Result: "done", Status: "completed", Captured: 100, Refundable: 100}
)

func refund(amount int) request  { return request{Kind: "refund", Amount: amount} }
func capture(amount int) request { return request{Kind: "capture", Amount: amount} }
func moved(amount int) answer    { return answer{Result: "done", Amount: amount} }
func refused(kind string) answer { return answer{Result: kind} }

func TestModel(t *testing.T) {
	for _, one := range []struct {
		title   string
		history []line
		want    porcupine.CheckResult
	}{
		{"9.9: of two concurrent refunds of 60 % one is refused", []line{
			paid, at(3, 6, read, settled), at(7, 9, refund(60), moved(60)), at(7, 9, refund(60), refused("RefundError")),
		}, porcupine.Ok},
		{"9.9: both are done, as without the lock of the payment's row", []line{
			paid, at(3, 6, read, settled), at(7, 9, refund(60), moved(60)), at(7, 9, refund(60), moved(60)),
		}, porcupine.Illegal},
		{"a refund is refused although all of it is left", []line{
			paid, at(3, 6, read, settled), at(7, 9, refund(60), refused("RefundError")),
		}, porcupine.Illegal},
		{"10.1: a charge without an answer may have been made", []line{
			unanswered(1, pay), at(3, 6, read, settled),
		}, porcupine.Ok},
		{"and may not", []line{
			unanswered(1, pay), at(3, 6, read, answer{Result: "done", Status: "new"}),
		}, porcupine.Ok},
		{"but not be undone", []line{
			unanswered(1, pay), at(3, 6, read, settled), at(7, 8, read, answer{Result: "done", Status: "new"}),
		}, porcupine.Illegal},
		{"an outcome that was promised comes before all is quiet", []line{
			paid, final(at(3, 6, read, answer{Result: "done", Status: "processing"})),
		}, porcupine.Illegal},
		{"5.7: a cancelled order is not paid", []line{
			at(1, 2, request{Kind: "cancel"}, done), at(3, 4, pay, done),
		}, porcupine.Illegal},
		{"8.7: a capture of more than is left", manual(
			paid, at(3, 6, read, answer{Result: "done", Status: "completed", Capturable: 100, Voidable: 100}),
			at(7, 8, capture(80), moved(80)), at(9, 10, capture(30), refused("ValidationError")),
		), porcupine.Ok},
		{"8.4: captured and voided beyond the authorized amount", manual(
			paid, at(3, 6, read, answer{Result: "done", Status: "completed", Capturable: 100, Voidable: 100}),
			at(7, 8, capture(80), moved(80)), at(7, 8, request{Kind: "void", Amount: 30}, moved(30)),
		), porcupine.Illegal},
		{"9.6: a capture that was answered is read afterwards", manual(
			paid, at(3, 6, read, answer{Result: "done", Status: "completed", Capturable: 100, Voidable: 100}),
			at(7, 8, capture(80), moved(80)),
			at(9, 10, read, answer{Result: "done", Status: "completed", Capturable: 20, Voidable: 20}),
		), porcupine.Illegal},
		{"many requests without an answer, of which none had an effect", manual(
			unanswered(1, pay), unanswered(1, refund(27)), unanswered(1, refund(22)), unanswered(1, refund(17)),
			unanswered(1, refund(44)), unanswered(1, refund(13)), unanswered(1, refund(9)), unanswered(1, refund(5)), unanswered(1, refund(3)),
			unanswered(1, request{Kind: "void", Amount: 29}), unanswered(1, request{Kind: "void"}),
			unanswered(1, capture(52)), unanswered(1, capture(0)), unanswered(1, capture(35)), unanswered(1, capture(36)),
			unanswered(1, pay), at(2, 5, request{Kind: "pay", Attempt: 1, Card: "declined"}, done),
			final(at(6, 7, read, answer{Result: "done", Status: "processing"})),
		), porcupine.Ok},
	} {
		if got := check(one.history); got != one.want {
			t.Errorf("%s: %s, not %s", one.title, got, one.want)
		}
	}
}
