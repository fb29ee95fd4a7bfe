package lines

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Set sets the field of a struct that a path names, such as "Producer.Retry.Max", from its text. Names are the values of
// the library's constants, for fields that are numbers.
func Set(target any, path, text string, names map[string]int64) error {
	field := reflect.ValueOf(target).Elem()
	for _, name := range strings.Split(path, ".") {
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		if field.Kind() != reflect.Struct || !field.FieldByName(name).CanSet() {
			return fmt.Errorf("unknown setting %s", path)
		}
		field = field.FieldByName(name)
	}
	if value, ok := names[text]; ok && (field.CanInt() || field.CanUint()) {
		text = strconv.FormatInt(value, 10)
	}
	if err := assign(field, text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func assign(field reflect.Value, text string) error {
	switch {
	case field.Type() == reflect.TypeOf(time.Duration(0)):
		duration, err := Duration(text)
		field.SetInt(int64(duration))
		return err
	case field.Kind() == reflect.Bool:
		truth, err := strconv.ParseBool(text)
		field.SetBool(truth)
		return err
	case field.Kind() == reflect.String:
		field.SetString(text)
		return nil
	case field.CanInt():
		number, err := strconv.ParseInt(text, 10, field.Type().Bits())
		field.SetInt(number)
		return err
	default:
		return fmt.Errorf("a value of type %s cannot be given as text", field.Type())
	}
}

// Duration returns a duration from a text such as "100ms"; a number alone is in nanoseconds, as in Go.
func Duration(text string) (time.Duration, error) {
	if number, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Duration(number), nil
	}
	return time.ParseDuration(text)
}
