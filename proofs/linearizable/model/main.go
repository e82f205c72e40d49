// Decides whether histories of orders are linearizable: `model < histories.ndjson` writes one line for each order.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// One request of a client with its answer. Times are nanoseconds; without a return it was not answered.
type line struct {
	Order  string  `json:"order"`
	Manual bool    `json:"manual"`
	Of     int     `json:"of"` // the amount of the order
	Client int     `json:"client"`
	In     request `json:"in"`
	Out    answer  `json:"out"`
	Call   int64   `json:"call"`
	Return *int64  `json:"return"`
	Final  bool    `json:"final"` // the read after which nothing was under way
}

type verdict struct {
	Order      string `json:"order"`
	Operations int    `json:"operations"`
	Result     string `json:"result"`
}

// The sequential model as the checker takes it. `last`: what the final read showed, if there is one.
func modelOf(start state, last *answer) porcupine.Model {
	apply := func(before, in, out interface{}) (bool, interface{}) {
		legal, after := before.(state).apply(in.(step), out.(answer))
		return legal && (last == nil || after.leadsTo(*last)), after
	}
	return porcupine.Model{Init: func() interface{} { return start }, Step: apply}
}

// Whether the final read may come after this state: a closed order stays closed, and amounts only grow. Changes no
// result; otherwise a dozen requests without an answer are tried in every order.
func (s state) leadsTo(last answer) bool {
	return s.quiet || (s.captured <= last.Captured && s.voided <= last.Voided && s.refunded <= last.Refunded &&
		(!s.closed() || strings.Contains(s.statuses(), " "+last.Status+" ")))
}

const timeLimit = 60 * time.Second

func check(lines []line) porcupine.CheckResult {
	quiet := int64(math.MaxInt64)
	start := state{manual: lines[0].Manual, amount: lines[0].Of, quiet: true}
	var last *answer
	for _, one := range lines {
		if one.Final {
			quiet = one.Call - 1 // equal times count as concurrent
			start.quiet = false
			last = &one.Out
		}
	}
	history := []porcupine.Operation{}
	for id, one := range lines {
		end := int64(math.MaxInt64)
		if one.Return != nil {
			end = *one.Return
		}
		add := func(settles bool, until int64) {
			in := step{request: one.In, id: id, settles: settles, final: one.Final}
			history = append(history, porcupine.Operation{
				ClientId: one.Client, Input: in, Call: one.Call, Output: one.Out, Return: until,
			})
		}
		add(false, end)
		switch {
		case one.In.Kind == "read" || one.In.Kind == "cancel":
		case one.Out.Result == "unanswered":
			add(true, end)
		case one.Out.Result == "processing" || (one.In.Kind == "pay" && one.Out.Result == "done"):
			add(true, quiet) // promised, and to be kept before all is quiet
		case one.Out.Result == "done" || one.Out.Result == "refused by the processor":
			add(true, end)
		}
	}
	return porcupine.CheckOperationsTimeout(modelOf(start, last), history, timeLimit)
}

func main() {
	orders := map[string][]line{}
	names := []string{}
	scanner := bufio.NewScanner(os.Stdin)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var one line
		if err := json.Unmarshal(scanner.Bytes(), &one); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		if orders[one.Order] == nil {
			names = append(names, one.Order)
		}
		orders[one.Order] = append(orders[one.Order], one)
	}
	if err := scanner.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, name := range names {
		said, _ := json.Marshal(verdict{name, len(orders[name]), string(check(orders[name]))})
		fmt.Println(string(said))
	}
}
