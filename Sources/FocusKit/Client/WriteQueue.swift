internal import DBus
internal import DBusTypes
internal import FocusClient
internal import FocusContract

/// The writes of focused bindings: those of one key go one after another, each under the state that was read before.
final class WriteQueue {
  private let link: Link
  private let cache: FocusedCache
  private let reporter: ErrorReporter
  private var waiting: [String: [WriteTicket]] = [:]
  private var underWay: Set<String> = []
  /// The state after the last write of a row, which the next one of the row is made under.
  private var last: [String: Origin] = [:]

  init(_ link: Link, _ cache: FocusedCache, _ reporter: ErrorReporter) {
    self.link = link
    self.cache = cache
    self.reporter = reporter
  }

  func add(_ ticket: WriteTicket) {
    waiting[ticket.slot.key, default: []].append(ticket)
    begin(ticket.slot.key)
  }

  private func begin(_ key: String) {
    guard !underWay.contains(key), let ticket = waiting[key]?.first else { return }
    guard ticket.slot.isCurrent(ticket) else {
      return refuse(ticket, FocusError("an earlier write to '\(key)' was refused", name: FocusError.conflict))
    }
    if let base = ticket.base {
      if let origin = base.origin { send(ticket, origin) } else { ask(ticket, base) }
    } else if let origin = last[key] {
      send(ticket, origin)
    } else {
      refuse(ticket, FocusError("'\(key)' is now nil", name: FocusError.notFocused))
    }
  }

  /// Finds out which state of which field `base` is.
  private func ask(_ ticket: WriteTicket, _ base: Snapshot) {
    let key = ticket.slot.key
    underWay.insert(key)
    link.ask(.read(key)) { [weak self] result in
      guard let self else { return }
      underWay.remove(key)
      do throws(FocusError) {
        guard let reading = try result.get() else {
          throw FocusError("'\(key)' is now nil", name: FocusError.notFocused)
        }
        guard base.isStill(reading, moves: cache.moves) else {
          throw FocusError("'\(key)' is no longer the value that was read", name: FocusError.conflict)
        }
        send(ticket, reading.origin)
      } catch {
        refuse(ticket, error)
      }
    }
  }

  private func send(_ ticket: WriteTicket, _ origin: Origin) {
    let key = ticket.slot.key
    underWay.insert(key)
    link.ask(.write(key, ticket.value, under: origin)) { [weak self] result in
      guard let self else { return }
      underWay.remove(key)
      switch result {
      case .success(let reading):
        last[key] = reading.origin
        remove(ticket)
        ticket.slot.finish(ticket, Snapshot(reading.value, reading.origin, moves: cache.moves))
        begin(key)
      case .failure(let error): refuse(ticket, error)
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
    reporter.report(error)
    begin(ticket.slot.key)
  }
}
