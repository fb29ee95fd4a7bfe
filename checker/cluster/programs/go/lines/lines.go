// Package lines is the line protocol of a client program: commands as JSON objects on the standard input, events on the
// standard output. checker/cluster/client.py is the other side.
package lines

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// Fields are what belongs to an event, by name.
type Fields map[string]any

// Command is a command with its arguments.
type Command map[string]any

// Method runs a command.
type Method func(Command) error

// Setting is a setting of the command line, in the library's own name.
type Setting struct{ Name, Value string }

// Given is what the command line asks for.
type Given struct {
	Bootstrap   []string
	Role, Topic string
	Settings    []Setting
}

var lock sync.Mutex

// Say writes an event with its time, in seconds since the epoch.
func Say(event string, fields Fields) {
	said := Fields{"event": event, "at": float64(time.Now().UnixMicro()) / 1e6}
	for name, value := range fields {
		said[name] = value
	}
	line, err := json.Marshal(said)
	if err != nil {
		panic(err)
	}
	lock.Lock()
	defer lock.Unlock()
	if _, err := os.Stdout.Write(append(line, '\n')); err != nil {
		os.Exit(1)
	}
}

// Told returns the two fields that tell an error, or its absence. A library's error tells its own name by Code.
func Told(err error) Fields {
	if err == nil {
		return Fields{"error": nil, "code": nil}
	}
	return Fields{"error": err.Error(), "code": Code(err)}
}

// Code returns the name of an error; a program sets the function of its library.
var Code = func(err error) string { return fmt.Sprintf("%T", err) }

// With returns fields with further fields.
func (fields Fields) With(name string, value any) Fields {
	fields[name] = value
	return fields
}

// Text returns an argument, or another text where the command has none.
func (command Command) Text(name, otherwise string) string {
	if text, ok := command[name].(string); ok {
		return text
	}
	return otherwise
}

// Number returns an argument, or another number where the command has none.
func (command Command) Number(name string, otherwise int64) int64 {
	if number, ok := command[name].(float64); ok {
		return int64(number)
	}
	return otherwise
}

// Send is a call of send(): a record, and which of its sends the call is. checker/cluster/sends.py reads the value.
type Send struct{ Record, Attempt int64 }

// Send returns the call of send() that a command asks for.
func (command Command) Send() Send {
	return Send{command.Number("record", 0), command.Number("attempt", 1)}
}

// Value returns the value of the record that the call sends.
func (send Send) Value() string {
	if send.Attempt > 1 {
		return fmt.Sprintf("record-%d-send-%d", send.Record, send.Attempt)
	}
	return fmt.Sprintf("record-%d", send.Record)
}

// Of adds the call of send() to fields.
func (fields Fields) Of(send Send) Fields {
	return fields.With("record", send.Record).With("attempt", send.Attempt)
}

// Has tells whether a command has an argument with a value.
func (command Command) Has(name string) bool { return command[name] != nil }

// Deadline returns a context that ends with the command's "seconds", or after a minute.
func (command Command) Deadline() (context.Context, context.CancelFunc) {
	seconds, ok := command["seconds"].(float64)
	if !ok {
		seconds = 60
	}
	return context.WithTimeout(context.Background(), time.Duration(seconds*float64(time.Second)))
}

// Start makes the client that the command line asks for, and runs its commands until "close", or the end of the input.
// Then the program ends at once: without "close", nothing is flushed, committed or left. module is the library's.
func Start(module string, producer, consumer func(Given) (map[string]Method, error)) {
	given := Given{Bootstrap: strings.Split(os.Args[1], ","), Role: os.Args[2], Topic: os.Args[3]}
	for _, pair := range os.Args[4:] {
		name, value, _ := strings.Cut(pair, "=")
		given.Settings = append(given.Settings, Setting{name, value})
	}
	makes := consumer
	if given.Role == "producer" {
		makes = producer
	}
	methods, err := makes(given)
	if err != nil {
		fail(Command{"do": "start"}, err)
		os.Exit(1)
	}
	Say("ready", Fields{"version": versionOf(module)})
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		var command Command
		if err := json.Unmarshal(input.Bytes(), &command); err != nil {
			panic(err)
		}
		name := command.Text("do", "")
		method, ok := methods[name]
		if !ok {
			fail(command, fmt.Errorf("this library's client has no command %s", name))
		} else if err := method(command); err != nil {
			fail(command, err)
		} else if name == "close" {
			Say("closed", nil)
			break
		}
	}
	os.Exit(0)
}

// versionOf returns the version of a module of this program, without its "v".
func versionOf(module string) string {
	built, _ := debug.ReadBuildInfo()
	for _, one := range built.Deps {
		if one.Path == module {
			return strings.TrimPrefix(one.Version, "v")
		}
	}
	panic("the program has no module " + module)
}

func fail(command Command, err error) {
	fields := Told(err)
	for name, value := range command {
		fields[name] = value
	}
	Say("failed", fields)
}
