#include <bits/stdc++.h>
using namespace std;
int main() {
    string text;
    for (int i = 0; i < 2000000; i++) text += to_string(i * 31 % 1009) + " ";
    map<string, int> counts;
    istringstream words(text);
    string word;
    while (words >> word) counts[word]++;
    string longest;
    for (auto& [name, count] : counts) {
        string turned(name.rbegin(), name.rend());
        if (counts.count(turned)) longest = max(longest, turned + "," + to_string(count));
    }
    size_t found = 0;
    for (size_t at = text.find("10"); at != string::npos; at = text.find("10", at + 1)) found++;
    cout << longest << " " << found << " " << text.substr(0, 20) << endl;
}
