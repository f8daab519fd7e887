/**
 * How many characters the regular expressions and the searches in texts go through while `run` runs. Like the steps of
 * `countRegex`, it does not depend on the machine; what one expression does at one place is counted there.
 */
export function countWork(run: () => void): number {
  let characters = 0
  const { exec } = RegExp.prototype
  const { slice, indexOf, lastIndexOf, includes } = String.prototype
  RegExp.prototype.exec = function (this: RegExp, text: string) {
    const from = this.global || this.sticky ? this.lastIndex : 0
    const found = exec.call(this, text)
    const reached = found === null ? (this.sticky ? from : text.length) : found.index + found[0].length
    characters += Math.max(1, reached - from)
    return found
  }
  String.prototype.slice = function (this: string, ...range) {
    const part = slice.apply(this, range)
    characters += part.length
    return part
  }
  String.prototype.indexOf = function (this: string, what, from = 0) {
    const at = indexOf.call(this, what, from)
    characters += (at < 0 ? this.length : at) - from
    return at
  }
  String.prototype.lastIndexOf = function (this: string, what, from = this.length) {
    const at = lastIndexOf.call(this, what, from)
    characters += from - Math.max(0, at)
    return at
  }
  String.prototype.includes = function (this: string, what, from = 0) {
    const at = indexOf.call(this, what, from)
    characters += (at < 0 ? this.length : at) - from
    return at >= 0
  }
  try {
    run()
  } finally {
    RegExp.prototype.exec = exec
    Object.assign(String.prototype, { slice, indexOf, lastIndexOf, includes })
  }
  return characters
}
