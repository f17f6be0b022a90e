internal import BridgeSupport
package import DBusTypes

/// The processes whose windows a process's scenes may be in, the nearest first.
package struct Lineage {
  /// Each step has processes that are equally near.
  package let steps: [[UInt32]]

  /// A process followed by its parents, with the others of its Flatpak: a window of the program itself is nearer than one of
  /// who has started it, and all in a Flatpak share their connections to the buses.
  package init(_ chain: [UInt32], companions: [UInt32] = []) {
    steps = [Array(chain.prefix(1)), companions] + chain.dropFirst().map { [$0] }
  }
}

/// A connection with scenes, as far as that decides which windows they are in.
package struct Resident {
  /// Those of the processes that its scenes belong to.
  package var lineages: [Lineage]
  /// The title of the one window that all of them are in; nil: it does not say.
  package var title: String?
  /// Whether it has yet to say.
  package var isAwaited = false
  /// Whether it may be in a window that is not known to be of its processes.
  package var isTrusted = false

  package init(_ lineages: [Lineage], title: String? = nil, isAwaited: Bool = false, isTrusted: Bool = false) {
    (self.lineages, self.title, self.isAwaited, self.isTrusted) = (lineages, title, isAwaited, isTrusted)
  }
}

/// Which connections' scenes are in which windows: by processes, and of several windows of one process by their titles.
package struct Adoption {
  /// What decides whose scenes a window has.
  package struct Home {
    /// Nil: it is not known.
    package let process: UInt32?
    package let title: String

    package init(process: UInt32?, title: String) { (self.process, self.title) = (process, title) }

    /// The process if it says whose window it is: the first process is everybody's parent.
    fileprivate var owner: UInt32? { process.flatMap { $0 > 1 ? $0 : nil } }
  }

  /// The window that a connection speaks for, and the title that named it, or nil.
  private struct Choice {
    let window: WindowID
    let title: String?
  }

  /// The windows that are known: titles change here and there at different times, windows and connections stay.
  private var choices: [BusName: Choice] = [:]
  /// Whether the window of a connection is not known that speaks for one: another title of a window may tell.
  package private(set) var isUnsure = false
  /// The windows that each connection which speaks for one may speak for.
  private var candidates: [BusName: Set<WindowID>] = [:]

  package init() {}

  /// Takes `window` for the one that `connection` speaks for.
  /// - Returns: whether that is news.
  package mutating func learn(_ connection: BusName, in window: WindowID) -> Bool {
    guard let possible = candidates[connection], possible.contains(window), choices[connection]?.window != window else {
      return false
    }
    // What was learned of another was wrong.
    choices = choices.filter { $0.value.window != window || $0.value.title != nil }
    choices[connection] = Choice(window: window, title: nil)
    return true
  }

  /// The windows of each connection: those of its process, else of the nearest parent that has windows.
  ///
  /// One that speaks for a window and whose processes have none may be in one of those whose process is not known.
  /// - Parameters:
  ///   - residents: all connections with scenes.
  ///   - windows: all windows.
  ///   - limit: the most connections of one window; those that come first by name count.
  /// - Returns: the connections of each window that has any.
  package mutating func homes(
    of residents: [BusName: Resident], among windows: [WindowID: Home], limit: Int
  ) -> [WindowID: [BusName]] {
    (isUnsure, candidates) = (false, [:])
    choices = choices.filter { residents[$0.key] != nil }
    var windowsByProcess: [UInt32: [WindowID]] = [:]
    var unknown: Set<WindowID> = []
    for (id, window) in windows {
      if let owner = window.owner { windowsByProcess[owner, default: []].append(id) } else { unknown.insert(id) }
    }
    var homes: [WindowID: Set<BusName>] = [:]
    for (connection, resident) in residents.sorted(by: { $0.key < $1.key }) {
      let nearest = resident.lineages.compactMap { lineage in
        lineage.steps.lazy.map { step in step.flatMap { windowsByProcess[$0] ?? [] } }.first { !$0.isEmpty }
      }
      let own = Set(nearest.joined())
      let onlyByTitle = own.isEmpty && resident.isTrusted
      for window in choose(
        onlyByTitle ? unknown : own, onlyByTitle: onlyByTitle, for: connection, resident, windows)
      {
        homes[window, default: []].insert(connection)
      }
    }
    return homes.mapValues { Array($0.sorted().prefix(limit)) }
  }

  /// All of `candidates`; of a connection that speaks for one window, that window, or none if it is not known or gone.
  ///
  /// With `onlyByTitle` the processes do not tell: no window is the connection's that never had its title.
  private mutating func choose(
    _ candidates: Set<WindowID>, onlyByTitle: Bool, for connection: BusName, _ resident: Resident,
    _ windows: [WindowID: Home]
  ) -> Set<WindowID> {
    guard let title = resident.title else {
      guard resident.isAwaited, candidates.count > 1 || onlyByTitle else { return candidates }
      // The daemon may have come back with what it was known to speak for.
      return choices[connection].map { candidates.intersection([$0.window]) } ?? []
    }
    func fitting(_ some: Set<WindowID>) -> [WindowID] {
      ShownTitle.fitting(some.map { (key: $0, told: title, shown: windows[$0]?.title ?? "") })
    }
    self.candidates[connection] = onlyByTitle ? Set(fitting(candidates)) : candidates
    let choice = choices[connection]
    let known = choice.flatMap { candidates.contains($0.window) ? $0 : nil }
    // By its title alone it leaves none: its window's new title may be yet to come, while a stranger's is the same.
    if let known, onlyByTitle || known.title == nil || known.title == title { return [known.window] }
    // A second window with the same title is the other connection's.
    let taken = choices.filter { $0.key != connection }.map(\.value.window)
    let named = fitting(candidates.subtracting(taken))
    if named.count == 1, let window = named.first {
      choices[connection] = Choice(window: window, title: title)
      return [window]
    }
    // The window's new title may come later than the connection's.
    if let known { return [known.window] }
    isUnsure = true
    return choice == nil && candidates.count == 1 && !onlyByTitle ? candidates : []
  }
}
