import DBus
import DBusTypes
import DaemonClient
import EventLoop
import FocusContract
import Glibc
import ProgramSupport

/// A field that lives as long as this process, for scripts: they change it by standard input, and read what others do on
/// standard output.
final class Holder {
  private static let number: UInt64 = 1

  private let plan: HoldPlan
  private let link: Link
  private let publisher: FieldPublisher
  private let mirror: Mirror
  private var values: [Key: DBusValue]
  private var isFocusWanted: Bool
  private var lines = LineReader(limit: Input.limit)
  private var end: CommandError?
  /// Whether input or output has ended.
  private var isFinishing = false
  private var input: DescriptorSource?
  private var output: DescriptorSource?

  init(_ plan: HoldPlan) {
    self.plan = plan
    values = plan.values
    isFocusWanted = plan.takesFocus
    link = Link(on: EventLoop(), rules: [.properties(of: Focus1.root)])
    let publisher = FieldPublisher(link)
    self.publisher = publisher
    mirror = Mirror(Focus1.focused, on: link, followsValues: false, followsFocus: true) { [weak publisher] event in
      if case .focusedField(let field) = event { publisher?.focusMoved(to: field) }
    }
  }

  /// Holds the field until standard input or output ends, or an error does.
  func run(_ daemon: DaemonConnection) throws(CommandError) {
    link.onEvent = { [weak self] in self?.handle($0) }
    publisher.onError = { Output.say($0.message) }
    publisher.onWaiting = { [weak publisher] error in
      publisher?.onWaiting = nil
      if let message = CommandError(error).message { Output.say("\(message); the field waits for the daemon") }
    }
    publisher.add(description)
    publisher.whenRegistered(Holder.number, id: 1) { [weak self] result in
      guard case .failure(let error) = result else { return }
      self?.publisher.onError = nil
      self?.stop(CommandError(error))
    }
    do { try link.open(daemon) } catch { throw CommandError(error) }
    readInput()
    output = DescriptorSource(STDOUT_FILENO, .hangup, on: link.loop) { [weak self] in self?.finish() }
    while end == nil { link.loop.turn() }
    link.stop()
    if let end, end.status != .done { throw end }
  }

  private func stop(_ error: CommandError) {
    end = end ?? error
    input?.cancel()
    output?.cancel()
  }

  /// Ends in order: what was said last is told, and who wrote is answered, before the field goes; and a daemon that is there
  /// has taken the field, or said why not.
  private func finish() {
    isFinishing = true
    input?.cancel()
    output?.cancel()
    publisher.onWaiting = { [weak self] _ in self?.stop(CommandError(.done)) }
    publisher.whenTold(Holder.number) { [weak self] in
      self?.link.call(.ping()) { [weak self] result in
        guard let self else { return }
        guard case .success = result else { return stop(CommandError(.done)) }
        publisher.whenRegistered(Holder.number, id: 2) { [weak self] _ in self?.stop(CommandError(.done)) }
      }
    }
  }

  private func handle(_ event: Link.Event) {
    switch event {
    case .arrived:
      mirror.begin()
      publisher.registerAll()
    case .left:
      mirror.end()
      publisher.daemonLeft()
      if isFinishing { stop(CommandError(.done)) }
    case .signal(let signal): mirror.received(signal)
    case .call(let message): publisher.called(message)
    case .refused(let error): stop(CommandError(error))
    case .closed: stop(CommandError(.noDaemon, "lost the connection to the bus"))
    case .other: break
    }
  }

  private var description: FieldDescription {
    var description = FieldDescription(
      number: Holder.number, group: Holder.number, objectPath: ObjectPath(known: "/org/focusd/Hold"))
    description.id = plan.id
    description.options = plan.options
    for (key, value) in plan.values {
      description.properties[key] = FieldProperty(
        type: value.type, tellsChanges: true,
        read: { [weak self] reading in reading(.success(self?.values[key] ?? value)) },
        write: plan.readOnly.contains(key)
          ? nil
          : { [weak self] value, completion in
            self?.write("\(key) \(Holder.line(value))")
            self?.change(key, value)
            completion(.success(()))
          })
    }
    for (key, types) in plan.commands {
      description.commands[key] = FieldCommand(input: types, output: []) { [weak self] arguments, completion in
        let line = arguments.count == 1 ? Holder.line : JSONWriter.data
        self?.write((["run \(key)"] + arguments.map(line)).joined(separator: " "))
        completion(.success([]))
      }
    }
    description.focus = FieldFocus(
      isWanted: { [weak self] in self?.isFocusWanted ?? false }, set: { [weak self] in self?.isFocusWanted = $0 })
    return description
  }

  private static func line(_ value: DBusValue) -> String { value.basicText.map(Output.line) ?? JSONWriter.data(value) }

  private func write(_ line: String) {
    // Who closes it from the start wants no lines, but a field.
    guard StandardStreams.hasOutput else { return }
    do { try Output.write(line + "\n") } catch { error.status == .done ? finish() : stop(error) }
  }

  private func change(_ key: Key, _ value: DBusValue) {
    values[key] = value
    publisher.changed(Holder.number, key, value)
  }

  // MARK: Standard input

  /// Reads lines, unless there can be none: from /dev/null, or from a terminal that another job has.
  private func readInput() {
    var status = stat()
    let isTerminal = isatty(STDIN_FILENO) != 0
    guard fstat(STDIN_FILENO, &status) == 0 else { return }
    if isTerminal {
      guard tcgetpgrp(STDIN_FILENO) == getpgrp() else { return }
    } else if status.st_mode & S_IFMT == S_IFCHR {
      return
    }
    input = DescriptorSource(STDIN_FILENO, .readable, on: link.loop) { [weak self] in self?.inputIsReady() }
  }

  private func inputIsReady() {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(STDIN_FILENO, &buffer, buffer.count)
    guard count > 0 else {
      if count == 0 || errno != EINTR && errno != EAGAIN { endOfInput() }
      return
    }
    buffer.removeLast(buffer.count - count)
    for line in lines.lines(endingIn: buffer) { take(line) }
  }

  private func endOfInput() {
    if let line = lines.last() { take(line) }
    finish()
  }

  private func take(_ line: LineReader.Line) {
    guard case .whole(let bytes) = line else {
      return Output.say("a line of standard input has more than \(Input.limit >> 20) MiB, and changes nothing")
    }
    guard let line = String(validating: bytes, as: UTF8.self) else {
      return Output.say("a line of standard input is not valid UTF-8, which D-Bus requires")
    }
    switch line {
    case "": break
    case "focus":
      isFocusWanted = true
      publisher.focusStateChanged(Holder.number)
    case "blur":
      isFocusWanted = false
      publisher.blur(Holder.number)
    default:
      do { try set(line) } catch { Output.say(error.message ?? "") }
    }
  }

  private func set(_ line: String) throws(CommandError) {
    // By bytes: a space with a combining mark is another character.
    let space = line.utf8.firstIndex(of: UInt8(ascii: " ")) ?? line.endIndex
    let name = try KeyArgument(String(line[..<space]))
    let text = space < line.endIndex ? line[line.utf8.index(after: space)...] : ""
    guard let whole = try name.resolved(among: values.keys.map(\.description)), whole.pointer.isEmpty,
      let key = values.keys.first(where: { $0.description == whole.name }), let type = values[key]?.type
    else {
      throw .usage("'\(name.text.excerpt)' is not one of the field's keys; a line is 'KEY VALUE', 'focus' or 'blur'")
    }
    do {
      change(key, try ValueText.read(type == .string ? Output.unescaped(text) : String(text), as: type))
    } catch {
      throw .usage("\(key): \(error)")
    }
  }
}

/// The command that holds a field.
enum Holding {
  static func hold(_ call: Invocation) throws(CommandError) {
    let plan = try HoldPlan(call.operands, call.options)
    let holder = Holder(plan)
    try holder.run(try call.connect())
    withExtendedLifetime(holder) {}
  }
}
