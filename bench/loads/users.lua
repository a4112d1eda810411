-- Requests the list of one user after the other.
-- Arguments: LIST-PATH FILE-OF-AUTHORIZATION-HEADERS
local requests, count = {}, 0

function init(args)
  for header in io.lines(args[2]) do
    requests[#requests + 1] = wrk.format("GET", args[1], { ["Authorization"] = header })
  end
end

function request()
  count = count + 1
  return requests[count % #requests + 1]
end
