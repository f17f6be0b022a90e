package import DBusTypes

/// Which connections' scenes are in which windows, by processes.
package enum Adoption {
  /// The windows of each connection: those of its process, else of the nearest parent that has windows.
  ///
  /// - Parameters:
  ///   - chains: for each connection, the processes that its fields belong to, each followed by its parents.
  ///   - windows: the process of each window.
  ///   - limit: the most connections of one window; those that come first by name count.
  /// - Returns: the connections of each window that has any.
  package static func homes(
    of chains: [BusName: [[UInt32]]], among windows: [WindowID: UInt32], limit: Int
  ) -> [WindowID: [BusName]] {
    var windowsByProcess: [UInt32: [WindowID]] = [:]
    // The first process is everybody's parent.
    for (window, process) in windows where process > 1 { windowsByProcess[process, default: []].append(window) }
    guard !windowsByProcess.isEmpty else { return [:] }
    var homes: [WindowID: Set<BusName>] = [:]
    for (connection, chains) in chains {
      for chain in chains {
        guard let process = chain.first(where: { windowsByProcess[$0] != nil }) else { continue }
        for window in windowsByProcess[process] ?? [] { homes[window, default: []].insert(connection) }
      }
    }
    return homes.mapValues { Array($0.sorted().prefix(limit)) }
  }
}
