internal import DBus
internal import DBusTypes

/// The writes of focused bindings: those of one key go one after another, each under the state that was read before.
final class WriteQueue {
  private unowned let worker: Worker
  private var waiting: [String: [WriteTicket]] = [:]
  private var underWay: Set<String> = []
  /// The state after the last write of a row, which the next one of the row is made under.
  private var last: [String: Reading.Origin] = [:]

  init(_ worker: Worker) { self.worker = worker }

  func add(_ ticket: WriteTicket) {
    waiting[ticket.slot.key, default: []].append(ticket)
    begin(ticket.slot.key)
  }

  /// Tries again what waited for a reading.
  func retry() { for key in waiting.keys.sorted() { begin(key) } }

  private func begin(_ key: String) {
    guard !underWay.contains(key), let ticket = waiting[key]?.first else { return }
    guard ticket.slot.isCurrent(ticket) else {
      return refuse(ticket, FocusError("a write to '\(key)' before this one was refused", name: FocusError.conflict))
    }
    let origin: Reading.Origin
    if let base = ticket.base {
      if let known = base.origin {
        origin = known
      } else {
        guard worker.watcher.isSettled else { return }
        guard let now = ticket.slot.confirmed, now.value == base.value, let known = now.origin else {
          return refuse(
            ticket, FocusError("'\(key)' is another than the value that was read", name: FocusError.conflict))
        }
        origin = known
      }
    } else {
      guard let known = last[key] else {
        return refuse(ticket, FocusError("'\(key)' is nil now", name: FocusError.notFocused))
      }
      origin = known
    }
    send(ticket, origin)
  }

  private func send(_ ticket: WriteTicket, _ origin: Reading.Origin) {
    let key = ticket.slot.key
    underWay.insert(key)
    let options = DBusValue.properties([
      (name: "field", value: .objectPath(origin.field)), (name: "revision", value: .uint64(origin.revision)),
    ])
    let arguments: [DBusValue] = [.string(key), .variant(ticket.value), options]
    worker.call(Focus1.focused, Focus1.bindings, "Write", arguments) { [unowned self] result in
      underWay.remove(key)
      do throws(FocusError) {
        let reply = try result.get()
        guard reply.count == 3, let value = reply[0].content, case .objectPath(let field) = reply[1],
          case .uint64(let revision) = reply[2]
        else { throw FocusError("focusd answers 'Write' with something else than version 1 of its interface says") }
        let origin = Reading.Origin(field: field, revision: revision)
        last[key] = origin
        remove(ticket)
        ticket.slot.finish(ticket, Reading(value: value, origin: origin))
        begin(key)
      } catch {
        refuse(ticket, error)
      }
    }
  }

  private func remove(_ ticket: WriteTicket) {
    let key = ticket.slot.key
    waiting[key]?.removeAll { $0.number == ticket.number && $0.slot === ticket.slot }
    if waiting[key]?.isEmpty == true { waiting[key] = nil }
  }

  private func refuse(_ ticket: WriteTicket, _ error: FocusError) {
    remove(ticket)
    ticket.slot.undo(ticket)
    worker.report(error)
    begin(ticket.slot.key)
  }
}
